--[[ increment: an operator moves the serving counter, forwards or back.

KEYS  line settings sessions rate rows calls
ARGV  now_ms seen document
Returns {reset_epoch serving_counter by again}
      again: this call came before under its name, and is answered as then; `by` is what it moved the counter by.
      An increment that reaches a gap of numbers that nobody holds skips the gap.
Keeps an increment of 0 changes nothing.
]]
local args = arguments({ room = 'text', call = 'text', by = 'integer' })
local line = read_room(keys, now)
if not line then return no_room() end
local call = of_operators('increment', args.call)
local before_this = answered_before(keys, call)
if before_this then return answer(again(before_this)) end
-- Above 2^53 - 1, numbers in Lua and in clients' JSON are not exact.
local MOST = 9007199254740991
local target = line.serving_counter + args.by
if line.gap_last > 0 and line.serving_counter < line.gap_first and target >= line.gap_first then
  target = target + line.gap_last - line.gap_first + 1
end
target = math.max(-MOST, math.min(MOST, target))
-- In sum, so that it is known which moves are nobody's: see `read_serving`.
local moved = target - line.serving_counter
if moved ~= 0 then redis.call('HINCRBY', keys.line, 'moved_by_hand', string.format('%.0f', moved)) end
if target > line.serving_counter then raise_serving(keys, line, target, now, 'o') end
if target < line.serving_counter then lower_serving(keys, line, target) end
publish(keys, args.room, now)
return answer(keep_answer(keys, call, {
  reset_epoch = line.reset_epoch, serving_counter = line.serving_counter, by = args.by, again = false,
}))
