import p.a
