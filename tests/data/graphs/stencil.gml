graph [
  directed 1
  name "stencil"
  node [
    id 0
    label "read"
    Runtime 1.0
    type "read"
  ]
  node [
    id 1
    label "u0"
    Runtime 0.5
    type "update"
  ]
  node [
    id 2
    label "u1"
    Runtime 0.25
    type "update"
  ]
  node [
    id 3
    label "u2"
    Runtime 0.5
    type "update"
  ]
  node [
    id 4
    label "write"
    Runtime 1.25
    type "write"
  ]
  edge [
    source 0
    target 1
    weight 0.125
    bytes 4096
  ]
  edge [
    source 0
    target 2
    weight 0.125
  ]
  edge [
    source 1
    target 3
  ]
  edge [
    source 2
    target 3
  ]
  edge [
    source 3
    target 4
    bytes 8192
  ]
]
