--[[ reopen: the leader ends a round of questions: the stored state is the room's latest, as far as anybody knows.

KEYS  line settings sessions rate testimony
ARGV  now_ms seen document
Returns {done}
      done: false if another round has begun since, or something more was lost.
Keeps (2) seats that may be somebody's count as taken, and never more than there are, or were seen taken; who was inside
      a room when it was closed for a move is inside when it is opened, however long that took.
]]
local args = arguments({
  room = 'text', round = 'text', leader_epoch = 'integer',
  -- Nothing was lost: all stays as it is.
  is_latest = 'flag',
  -- How many seats can be taken, at most, as far as those have seen who have said so, and for how long they are kept.
  inside = 'integer', seats_held_seconds = 'integer',
  -- And for how long once the silent have been heard.
  held_once_heard_seconds = 'integer',
  -- For how long sessions are kept that have ended, because somebody may have renewed them; 0: nobody has.
  sessions_kept_seconds = 'integer',
  -- How many of these were held since an earlier loss, and until when, ms.
  held_before = 'integer', held_before_until = 'integer',
  -- The most that somebody saw taken: they may be more than there are now.
  seen_inside = 'integer',
  -- The services that were there and have not said what they saw, JSON (nil = none): then all seats can be taken.
  awaits = 'text',
})
local line, settings = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
if redis.call('HGET', keys.testimony, 'round') ~= args.round then return answer({ done = false }) end
-- The leader does not know of it.
if stamp.is_partial or stamp.suspect == 'partial' then return answer({ done = false }) end
redis.call('HDEL', keys.testimony, 'round')

-- Of those who were silent: what is of another round, which the server had not forgotten, is nothing that they tell late;
-- but for last words: whoever stopped meanwhile tells nothing any more.
local function forget_what_they_told_before()
  for _, name in ipairs(cjson.decode(args.awaits)) do
    local account = redis.call('HGET', keys.testimony, 'by:' .. name)
    local told = account and cjson.decode(account)
    if told and not told.is_last and told.round ~= args.round then redis.call('HDEL', keys.testimony, 'by:' .. name) end
  end
end

-- After a move nobody could come until now, and presence is not moved along.
if args.is_latest and stamp.suspect == 'closed' then
  excuse(line, now)
  redis.call('HSET', keys.line, 'excused_until', line.excused_until, 'presence_from', line.presence_from,
    'held_from', 0, 'held_at', now)
  -- Nor could anybody renew a session since it was closed.
  redis.call('HSET', keys.line, 'kept_from', sessions_from(line, stamp.clock_ms),
    'kept_until', now + settings.session_duration_seconds * 1000)
end
-- Since a backup was made, anybody may have taken any seat.
local is_restored = redis.call('HGET', keys.line, 'unseen')
redis.call('HDEL', keys.line, 'suspect', 'unseen')
confirm_state()
if not args.is_latest then
  local ceiling = settings.total_active_users
  local counted_from = sessions_from(line, now)
  local live = redis.call('ZCOUNT', keys.sessions, counted_from, '+inf')
  local most = ceiling and math.max(ceiling, args.seen_inside) or math.huge
  local function owed(inside) return math.max(math.min(inside, most) - live, 0) end
  local inside = is_restored and ceiling or args.inside
  local held_until = now + args.seats_held_seconds * 1000
  -- Of everybody who was seen inside it is known where he is, but for those who have not come back since an earlier loss.
  local is_time_known = args.held_before > 0 and args.held_before_until > 0
  if is_time_known and not args.awaits and not is_restored and owed(inside - args.held_before) == 0 then
    held_until = math.min(held_until, args.held_before_until)
  end
  redis.call('HSET', keys.line, 'owed', owed(inside),
    'unconfirmed', owed(args.awaits and math.max(ceiling or 0, inside) or inside), 'unconfirmed_until', held_until)
  if args.sessions_kept_seconds > 0 then
    redis.call('HSET', keys.line, 'kept_from', counted_from, 'kept_until', now + args.sessions_kept_seconds * 1000)
  end
  if args.awaits then
    redis.call('HSET', keys.line, 'awaits', args.awaits, 'came_late', 0,
      'held_once_heard', now + args.held_once_heard_seconds * 1000)
    forget_what_they_told_before()
  else
    redis.call('HDEL', keys.line, 'awaits')
  end
end
publish(keys, args.room, now)
return answer({ done = true })
