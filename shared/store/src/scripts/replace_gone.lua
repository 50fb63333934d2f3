--[[ replace_gone: the max-size inlet ends sessions of people who have left, and serves others in their place, as far as
there is room. A long report comes in parts: the last serves, for all of them.

KEYS  line settings sessions records ended entered rate rows calls counts
ARGV  now_ms seen document
Returns {reset_epoch completed abandoned active awaited by serving_counter again ended expires_at}
      completed, abandoned: how many sessions ended by the report so far. active: sessions that live. awaited: who is served and may still
      enter. by: what the counter was asked to move by. again: this call came before under its name, and is answered as
      then, without `ended` and `expires_at`: see leave.
Keeps whoever calls at the same time, live sessions and those who may still enter are not brought above max_size, and the
      counter never goes back; (2) an ended session stays ended; (3) where limits let people in, the counter is theirs.
]]
local args = arguments({
  room = 'text', call = 'text', reset_epoch = 'integer',
  -- Where the caller is.
  region = 'text',
  -- Of each session: number (as text), how it ended, and `seat`: see lib/departures.
  sessions = 'table',
  -- Which part of the report this is, the last one 0, and how many sessions those before it ended.
  part = 'integer', completed = 'integer', abandoned = 'integer',
  -- How many have left; 0 = as many as end by the report.
  exited = 'integer',
  max_size = 'integer',
  -- So many of the seats taken are of sessions that had ended before, and stay taken for a while.
  kept = 'integer',
})
local line, settings = read_room(keys, now)
if not line then return no_room() end
local report, is_last = of_operators('inlet', args.call), args.part == 0
-- No call's own name has a colon.
local call = is_last and report or of_operators('inlet', args.call .. ':' .. args.part)
local before_this = answered_before(keys, report) or answered_before(keys, call)
if before_this then return answer(again(before_this)) end

local told = { completed = args.completed, abandoned = args.abandoned }
local ended, expires_at, numbers, until_s = {}, {}, {}, {}
-- Of those that end now, so many seats stay taken.
local kept_now = 0

local function end_sessions()
  if args.reset_epoch ~= line.reset_epoch then return end
  for i, session in ipairs(args.sessions) do
    local was_live = is_live(keys, line, session.number, now)
    local exp = DEPARTURES.end_session(keys, session.number, session.ended_as, session.seat)
    ended[i], expires_at[i] = exp and true or false, exp or 0
    if exp then
      numbers[#numbers + 1], until_s[#until_s + 1] = tonumber(session.number), exp
      told[session.ended_as] = told[session.ended_as] + 1
      if was_live and is_live(keys, line, session.number, now) then kept_now = kept_now + 1 end
    end
  end
  COUNTS.left(keys.counts, now, 'completed', told.completed - args.completed, args.region)
  COUNTS.left(keys.counts, now, 'abandoned', told.abandoned - args.abandoned, args.region)
  if #numbers > 0 then
    push('endings', encode({ room = args.room, reset_epoch = line.reset_epoch, numbers = numbers, expires_at = until_s }))
  end
end

-- Who is served and has neither entered nor lost its place: those in line, and whoever comes next, if the counter is
-- ahead of the line.
local function awaited_now()
  local first, last = line.expired_position + 1, math.min(line.serving_counter, line.queue_counter)
  local ahead = math.max(line.serving_counter - math.max(line.queue_counter, line.expired_position), 0)
  if last < first then return ahead end
  local nobodys = GAPS.within(keys, line, first, last) + GAPS.drawn(keys, line, first, last)
  return ahead + math.max(last - first + 1 - count_bits(keys.entered, first, last) - nobodys, 0)
end

end_sessions()
told.active = math.max(seats_taken(keys.sessions, line, now) - args.kept - kept_now, 0)
told.awaited = awaited_now()
local is_limited = settings.total_active_users or settings.new_users_per_minute
local left = args.exited > 0 and args.exited or told.completed + told.abandoned
local serves = is_last and not is_limited
told.by = serves and math.max(math.min(left, args.max_size - told.active - told.awaited), 0) or 0
move_serving(keys, line, told.by, now)
if told.by > 0 or #numbers > 0 then publish(keys, args.room, now) end
told.reset_epoch, told.serving_counter, told.again = line.reset_epoch, line.serving_counter, false
keep_answer(keys, call, told)
told.ended, told.expires_at = ended, expires_at
return answer(told)
