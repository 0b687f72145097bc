package limit

// Two is 2.
const  Two = 2
