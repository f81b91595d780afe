package doctor

import (
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

// judged gives the findings of a judgement about one subject.
func judged(check string, judge func(*notes)) []Finding {
	var list []Finding
	judge(&notes{check, &list})
	return list
}

func JudgeDisk(free, growth int64) []Finding {
	return judged("disk", func(n *notes) { judgeDisk(n, free, growth) })
}

func JudgeRoom(room embedded.Room) []Finding {
	return judged("room", func(n *notes) {
		judgeSize(n.about("log size"), room)
		judgeMemory(n.about("memory"), room)
		judgeTopics(n.about("open files"), room)
	})
}

func JudgeTopic(state kafka.TopicState) []Finding {
	return judged("svc.call", func(n *notes) { judgeTopic(n, kafka.TopicSpec{Name: "svc.call"}, state) })
}
