package runner

import "sync"

// queues hold the runs of a lane that wait for others of their event key. A key has
// no more workers than it may have runs at once, so that however many of its calls
// wait, there is room for those of the others.
type queues struct {
	workers int
	mu      sync.Mutex
	keys    map[string]*queue
}

type queue struct {
	workers int
	jobs    []job
}

// job is a run, and the entry that it ends.
type job struct {
	task  task
	entry *entry
}

func newQueues(workers int) *queues {
	return &queues{workers: workers, keys: make(map[string]*queue)}
}

// add takes in a job, and reports that its key needs one worker more.
func (q *queues) add(key string, j job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := q.keys[key]
	if of == nil {
		of = &queue{}
		q.keys[key] = of
	}
	of.jobs = append(of.jobs, j)
	if of.workers == q.workers {
		return false
	}
	of.workers++
	return true
}

// next gives a worker of the key its next job; false tells it to end.
func (q *queues) next(key string) (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	of := q.keys[key]
	if len(of.jobs) == 0 {
		if of.workers--; of.workers == 0 {
			delete(q.keys, key)
		}
		return job{}, false
	}
	j := of.jobs[0]
	of.jobs[0] = job{} // nothing of it is kept
	of.jobs = of.jobs[1:]
	return j, true
}
