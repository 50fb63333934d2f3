-- push(kind, text): tells every service that listens. `kind`: one of CHANNELS. The prelude declares all three.

-- What is PUBLISHed on a Cluster every node sends to every other one. So there the scripts of a room have a second text,
-- which is SHARDED: what they push stays at the shard that holds the room, on one channel with the room's hash tag, and
-- begins with its kind. They are called once every running service listens there.
if SHARDED then
  local beginning = string.match(KEYS[1], '^.-}:')
  push = function(kind, text) redis.call('SPUBLISH', beginning .. 'pushes', kind .. ' ' .. text) end
else
  push = function(kind, text) redis.call('PUBLISH', CHANNELS[kind], text) end
end
