package limit

func (
