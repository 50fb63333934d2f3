--[[ read_serving: where the serving counter stands, and what operators have moved of that.

KEYS  line
ARGV  now_ms seen document
Returns {reset_epoch restored_at_ms serving_counter moved_by_hand}
]]
local args = arguments({ room = 'text' })
local line = read_line(keys.line)
if not line then return no_room() end
return answer({
  reset_epoch = line.reset_epoch, restored_at_ms = line.restored_at, serving_counter = line.serving_counter,
  moved_by_hand = tonumber(redis.call('HGET', keys.line, 'moved_by_hand') or nil) or 0,
})
