--[[ dismiss: the leader has heard services that were silent when the room was brought to its latest state.

KEYS  line settings sessions rate
ARGV  now_ms seen document
Returns {}
Keeps (1) the queue counter is above every number that they have handed out; (2) of the admissions that were assumed,
      those count on that they have seen.
]]
local args = arguments({
  room = 'text', leader_epoch = 'integer',
  -- That of what they have told: if the room was reset since, nothing is done.
  reset_epoch = 'integer',
  -- The highest number that they have handed out.
  queue_counter = 'integer',
  -- Of those, numbers that they had left out: the first and the last of each part.
  left_out = 'table',
  -- The most sessions that they have seen begin.
  admitted = 'integer',
  -- Who is still silent, JSON; nil = nobody: then the worst is no longer assumed.
  awaits = 'text',
})
local line = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
if line.reset_epoch ~= args.reset_epoch then return answer({}) end
-- Up to the counter it is known here which were handed out.
local left_out = {}
for _, pair in ipairs(args.left_out) do
  local first, last = math.max(tonumber(pair[1]), line.queue_counter + 1), tonumber(pair[2])
  if first <= last then left_out[#left_out + 1] = { first, last } end
end
LEFT_OUT.add(keys.line, line, left_out)
LEFT_OUT.catch_up(keys.line, line, args.queue_counter)
ASSUMED.hear(args.admitted)

-- Seats stay held that are neither told late nor known to be free; and as long as if nobody had been silent.
local function hold_the_rest()
  local held = redis.call('HMGET', keys.line, 'owed', 'came_late', 'held_once_heard')
  -- Of sessions that began unseen by all but the silent no seat was owed.
  local owed = math.max((tonumber(held[1]) or 0) - math.max((tonumber(held[2]) or 0) - ASSUMED.unseen(), 0), 0)
  -- Since then tokens may have been told of that last for longer.
  local until_ms = math.max(tonumber(held[3]) or math.huge, (line.tokens_until + 1) * 1000)
  redis.call('HSET', keys.line, 'owed', owed, 'came_late', 0, 'unconfirmed', math.min(line.unconfirmed, owed),
    'unconfirmed_until', math.min(line.unconfirmed_until, until_ms))
end

if args.awaits then
  redis.call('HSET', keys.line, 'awaits', args.awaits)
else
  redis.call('HDEL', keys.line, 'awaits')
  hold_the_rest()
  ASSUMED.give_back(now)
end
publish(keys, args.room, now)
return answer({})
