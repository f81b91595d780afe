package runner

import "sync"

// progress knows up to where a partition is done: whoever is given it next begins
// at the lowest call that is not.
type progress struct {
	mu   sync.Mutex
	next int64 // behind the last record that was read
	open []*entry
}

// entry is a call, or a retry, with the runs that it still needs, and what it
// weighs while it is remembered.
type entry struct {
	offset int64
	left   int
	weight int
}

// begin takes in a record that needs runs; those come in the order of the log.
func (p *progress) begin(offset int64, runs, weight int) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &entry{offset: offset, left: runs, weight: weight}
	p.open = append(p.open, e)
	p.next = offset + 1
	return e
}

// pass takes in a record that needs none.
func (p *progress) pass(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = offset + 1
}

// end takes in the end of one run, and gives the weight of the entries that are
// now done with all before them.
func (p *progress) end(e *entry) (done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.left--
	for len(p.open) > 0 && p.open[0].left == 0 {
		done += p.open[0].weight
		p.open = p.open[1:]
	}
	return done
}

// offset is where the next member would begin; 0 says that nothing was read.
func (p *progress) offset() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.open) > 0 {
		return p.open[0].offset
	}
	return p.next
}
