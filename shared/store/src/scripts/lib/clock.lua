-- Redis's own clock in ms, unless a test or a simulation names the time (ARGV "0" = the clock).
local function time_ms(argument)
  if argument ~= '0' then return tonumber(argument) end
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

-- The caller and the server may disagree so much about the time before the clock counts as set, ms.
local CLOCK_TOLERANCE_MS = 2000

-- A time that never goes back, and follows no jump of the server's clock. Whether that has jumped says the caller, who
-- has measured how long it is since a time that it was told. `ahead`: what is added to the server's clock; last_ms: the
-- time when that was noted; about_ms: what the caller says, 0: nothing. Returns the time, what is added from now on, and
-- whether that is something else.
local function steady_time(server_ms, ahead, last_ms, about_ms)
  local at = server_ms + ahead
  if about_ms > 0 and math.abs(at - about_ms) > CLOCK_TOLERANCE_MS then
    at = math.max(about_ms, last_ms)
    return at, at - server_ms, true
  end
  return math.max(at, last_ms), ahead, false
end
