-- The events that webhooks are told: a stream, in the order in which they were written. Needs keys.outbox.

local OUTBOX = {}

-- Adds `events` at the end, and forgets the oldest beyond `most`. Ids are times, ms, which never go back, though the
-- clock may. Of each event: id, kind, room ('': it is of no room), body. Returns the last id; nil: there is none.
function OUTBOX.add(events, now, most)
  local newest = redis.call('XREVRANGE', keys.outbox, '+', '-', 'COUNT', 1)[1]
  local ms, nth = 0, 0
  if newest then
    local dash = string.find(newest[1], '-', 1, true)
    ms, nth = tonumber(string.sub(newest[1], 1, dash - 1)), tonumber(string.sub(newest[1], dash + 1))
  end
  local last = newest and newest[1]
  for _, event in ipairs(events) do
    if now > ms then ms, nth = now, 0 else nth = nth + 1 end
    last = string.format('%d-%d', ms, nth)
    redis.call('XADD', keys.outbox, 'MAXLEN', '=', string.format('%d', most), last,
      'id', event.id, 'kind', event.kind, 'room', event.room, 'body', event.body)
  end
  return last
end
