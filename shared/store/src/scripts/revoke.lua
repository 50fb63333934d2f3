--[[ revoke: an operator ends a visitor's session, or takes its place in line.

KEYS  line sessions records ended entered unattended door asked passed holds revoked counts
ARGV  now_ms seen document
Returns {revoked expires_at}
      revoked: session, place, or again (such a place was revoked before); none: there is neither, or both are over;
      moved: the position is not of these draws. expires_at: until when the end is remembered, unix s. It is pushed to
      every service, because visitors who wait, and those inside, are answered without a call to Redis.
Keeps who was revoked never enters; a place that was revoked costs nobody a seat, and is ahead of nobody.
]]
local args = arguments({
  room = 'text', reset_epoch = 'integer',
  -- Whose. position: nil = it waits for its draw; draws: how many that takes into account.
  number = 'integer', position = 'integer', draws = 'integer',
  -- Until when the seat of a session counts as taken: see lib/departures.
  seat = 'text',
})
local line = read_line(keys.line)
if not line then return no_room() end

local function revoke_place()
  if REVOKED.is_listed(keys, line, args.number) then return 'again', 0 end
  local is_done, has_moved = DEPARTURES.give_up(keys, line, args.number, args.position, args.draws)
  if not is_done then return has_moved and 'moved' or 'none', 0 end
  REVOKED.list(keys, line, args.number, now)
  local until_s = math.floor(now / 1000) + REVOKED.REMEMBERED_S
  redis.call('ZADD', keys.ended, until_s, args.number)
  return 'place', until_s
end

-- Since a loss it may be inside without a record, in one of the seats that are held for such. All that is known of it is
-- the bit of its place; so it may be over as well. It is not rebuilt from its ticket.
local function revoke_unconfirmed()
  if line.unconfirmed == 0 or line.unconfirmed_until < now then return 'none', 0 end
  local is_of_line = args.number > 0 and args.number <= line.queue_counter and args.draws == line.draw_count
  local is_over = redis.call('HGET', keys.records, args.number) or redis.call('ZSCORE', keys.ended, args.number)
  if not is_of_line or is_over or not args.position or not get_bit(keys.entered, args.position) then return 'none', 0 end
  local until_s = math.ceil(line.unconfirmed_until / 1000)
  redis.call('ZADD', keys.ended, until_s, args.number)
  return 'session', until_s
end

local function revoke()
  if args.reset_epoch ~= line.reset_epoch then return 'none', 0 end
  local exp = DEPARTURES.end_session(keys, args.number, 'revoked', args.seat)
  if exp then return 'session', exp end
  local what, until_s = revoke_place()
  if what == 'none' then return revoke_unconfirmed() end
  return what, until_s
end

local revoked, expires_at = revoke()
if expires_at > 0 then
  COUNTS.left(keys.counts, now, revoked == 'place' and 'place_revoked' or 'revoked', 1)
  local number = { args.number }
  push('endings', encode({ room = args.room, reset_epoch = line.reset_epoch, numbers = number,
    expires_at = { expires_at }, places = revoked == 'place' and number or {} }))
end
return answer({ revoked = revoked, expires_at = expires_at })
