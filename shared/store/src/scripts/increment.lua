--[[ increment: an operator moves the serving counter, forwards or back.

KEYS  line settings sessions entered rate rows calls
ARGV  now_ms seen document
Returns {reset_epoch before serving_counter by again}
      before: where the counter stood; nil: an older release answered this call.
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
local before = line.serving_counter
move_serving(keys, line, args.by, now)
-- In sum, so that it is known which moves are nobody's: see `read_serving`.
local moved = line.serving_counter - before
if moved ~= 0 then redis.call('HINCRBY', keys.line, 'moved_by_hand', string.format('%.0f', moved)) end
publish(keys, args.room, now)
return answer(keep_answer(keys, call, {
  reset_epoch = line.reset_epoch, before = before, serving_counter = line.serving_counter, by = args.by, again = false,
}))
