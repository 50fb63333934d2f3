-- The events that webhooks are told: a stream, in the order in which they were written. Needs keys.outbox. Ids are times,
-- ms, which never go back, though the clock may. Events are counted, so that whoever reads on knows whether some are
-- missing: `nth` is the event's number in its stream.

local OUTBOX = {}

-- The last event: its id, the id's two numbers, its nth and its kind; nil: there is none.
function OUTBOX.newest()
  local entry = redis.call('XREVRANGE', keys.outbox, '+', '-', 'COUNT', 1)[1]
  if not entry then return nil end
  local dash = string.find(entry[1], '-', 1, true)
  local newest = { id = entry[1], ms = tonumber(string.sub(entry[1], 1, dash - 1)),
    part = tonumber(string.sub(entry[1], dash + 1)), nth = 0, kind = '' }
  for i = 1, #entry[2], 2 do
    if entry[2][i] == 'nth' then newest.nth = tonumber(entry[2][i + 1]) end
    if entry[2][i] == 'kind' then newest.kind = entry[2][i + 1] end
  end
  return newest
end

-- Adds `events` at the end, and forgets the oldest beyond `most`. Of each event: id, kind, room ('': it is of no room),
-- body.
function OUTBOX.add(events, now, most)
  if #events == 0 then return end
  local newest = OUTBOX.newest() or { ms = 0, part = 0, nth = 0 }
  local ms, part, nth = newest.ms, newest.part, newest.nth
  for _, event in ipairs(events) do
    if now > ms then ms, part = now, 0 else part = part + 1 end
    nth = nth + 1
    redis.call('XADD', keys.outbox, 'MAXLEN', '=', string.format('%d', most), string.format('%d-%d', ms, part),
      'nth', nth, 'id', event.id, 'kind', event.kind, 'room', event.room, 'body', event.body)
  end
end

-- Forgets what was written before `oldest`, ms. Of the last event its number stays, for those that follow.
function OUTBOX.forget(oldest, now)
  local newest = OUTBOX.newest()
  if not newest then return end
  local bound = string.format('%d', oldest)
  if newest.ms < oldest then
    if newest.kind ~= '' then
      OUTBOX.add({ { id = '', kind = '', room = '', body = '' } }, now, 1)
      newest = OUTBOX.newest()
    end
    bound = newest.id
  end
  redis.call('XTRIM', keys.outbox, 'MINID', '=', bound)
end
