-- Redis's own clock in ms, unless a test or a simulation names the time (ARGV "0" = the clock).
local function time_ms(argument)
  if argument ~= '0' then return tonumber(argument) end
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
