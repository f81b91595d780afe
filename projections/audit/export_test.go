package audit

// MaxLooked is how many rows one page looks at.
const MaxLooked = maxLooked
