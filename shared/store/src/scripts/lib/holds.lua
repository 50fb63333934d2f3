-- Held seats: a seat that is kept for somebody who is there, until it presses the button. It is taken: it
-- counts among the sessions, and against the rate. Each place is given one hold.
-- holds: position -> until when (ms) a seat is or was held for it.

-- Of so many seats one may be held, and so of the admissions of a minute: holds of people who never come
-- cost no more.
local SEATS_PER_HOLD = 20
-- How long a hold is if the room does not say: learnt from how long people take, within these bounds, ms.
-- Each who comes in time makes it a little shorter, each who is late much longer: one of twenty is late.
local SHORTEST_HOLD_MS, FIRST_HOLD_MS, LONGEST_HOLD_MS = 10000, 30000, 60000
local IN_TIME_MS, TOO_LATE_MS = -100, 1900

-- How many seats are held.
local function held_seats(keys, now) return redis.call('ZCOUNT', keys.holds, now, '+inf') end

-- How many of the admissions of a minute are kept for those who hold a seat.
local function held_rate(keys, settings, now)
  return settings.new_users_per_minute and held_seats(keys, now) or 0
end

-- How many more seats may be held. Where nothing is limited, nothing needs to be held.
local function holds_left(keys, settings, now)
  local limit = math.min(settings.total_active_users or math.huge,
    settings.new_users_per_minute or math.huge)
  if limit == math.huge then return 0 end
  return math.max(math.floor(limit / SEATS_PER_HOLD) - held_seats(keys, now), 0)
end

-- How long a seat is held now, ms.
local function hold_ms(line, settings)
  if settings.turn_hold_seconds then return settings.turn_hold_seconds * 1000 end
  return line.turn_hold_ms > 0 and line.turn_hold_ms or FIRST_HOLD_MS
end

-- Somebody came for a seat that is, or was, held for it.
local function note_turn(keys, line, settings, is_late)
  if settings.turn_hold_seconds then return end
  local ms = hold_ms(line, settings) + (is_late and TOO_LATE_MS or IN_TIME_MS)
  line.turn_hold_ms = math.min(math.max(ms, SHORTEST_HOLD_MS), LONGEST_HOLD_MS)
  redis.call('HSET', keys.line, 'turn_hold_ms', line.turn_hold_ms)
end

-- Holds a seat for the place, and returns until when, ms.
local function hold_seat(keys, line, settings, number, position, now)
  local until_ms = now + hold_ms(line, settings)
  redis.call('ZADD', keys.sessions, until_ms, number)
  redis.call('ZADD', keys.holds, until_ms, position)
  return until_ms
end

-- The seat is held no longer: its visitor has entered or left.
local function end_hold(keys, position) redis.call('ZREM', keys.holds, position) end
