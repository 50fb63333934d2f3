--[[ restore_places: the leader puts back which places are over, and which are AWS-style visitors', as a service told.

KEYS  line entered unattended testimony
ARGV  now_ms seen document
Returns {done}
      done: false if the room was reset since.
Keeps a place that is over stays so: nobody enters with it again.
]]
local args = arguments({
  reset_epoch = 'integer',
  -- The page of the testimony that has the bits, and the chunk that they are of.
  page = 'text', chunk = 'integer',
  -- entered, gone_from_pools, or unattended.
  of = 'text',
})
local line = read_line(keys.line)
if not line then return no_room() end
if line.reset_epoch ~= args.reset_epoch then return answer({ done = false }) end
local prefixes = { entered = keys.entered, gone_from_pools = gone_from_pools(keys), unattended = keys.unattended }
local kept = chunk_key(prefixes[args.of], args.chunk)
PARTS.note_written(kept)
redis.call('BITOP', 'OR', kept, kept, keys.testimony .. ':' .. args.page)
-- That counts who gave up is lost with the state, and nobody is looked for among none.
if args.of == 'gone_from_pools' then
  redis.call('HSET', keys.line, 'left_pools', math.max(line.left_pools, redis.call('BITCOUNT', kept)))
end
return answer({ done = true })
