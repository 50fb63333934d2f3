--[[ note_counts: what a service has counted in a minute of a room, for the history.

KEYS  line counts
ARGV  now_ms seen document
Returns {}
Keeps what is counted changes nothing that anybody decides by.
]]
local args = arguments({
  -- Of each count its field, as in lib/counts, and how many.
  counts = 'table',
})
if not read_line(keys.line) then return no_room() end
for _, count in ipairs(args.counts) do redis.call('HINCRBY', keys.counts, count[1], tonumber(count[2])) end
return answer({})
