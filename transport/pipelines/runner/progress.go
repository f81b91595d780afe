package runner

import "sync"

// progress knows up to where a partition is done: whoever is given it next begins
// at the lowest call that is not.
type progress struct {
	mu   sync.Mutex
	next int64 // behind the last record that was read
	open []*entry
}

// entry is a call, or a retry, with the runs that it still needs.
type entry struct {
	offset int64
	left   int
}

// begin takes in a record that needs runs; those come in the order of the log.
func (p *progress) begin(offset int64, runs int) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := &entry{offset: offset, left: runs}
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

// end takes in the end of one run, and gives how many entries are done with all
// before them.
func (p *progress) end(e *entry) (done int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.left--
	for done < len(p.open) && p.open[done].left == 0 {
		done++
	}
	p.open = p.open[done:]
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
