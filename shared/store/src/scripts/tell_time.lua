--[[ tell_time: a service says what time it is, if it knows, and hears it.

Every room has its own time, and follows no jump of the server's clock as long as somebody calls who was there before the
jump. Who has just started has seen no room. So the services keep a time of the deployment, too, and who starts goes
by that.

KEYS  clock
ARGV  now_ms document
Returns {now_ms}
      now_ms: what time it is; nil: the clock may have jumped, or nobody was there for a while. Somebody who knows it may
      say so in a moment.
Keeps the time never goes back, and follows no jump of the server's clock that anybody knows of.
]]
local args = arguments({
  -- What time it is by what the caller was told and has measured since, ms; nil: it was told nothing yet.
  about_ms = 'integer',
  -- Nobody knows it better than the server, as far as the caller has heard.
  accepts = 'flag',
})
-- The time was noted twice a second, if any service was there.
local UNCERTAIN_MS = 5000
local server_ms = time_ms(ARGV[1])
local stored = redis.call('HMGET', keys.clock, 'now_ms', 'ahead')
local last, ahead_before = tonumber(stored[1] or nil) or 0, tonumber(stored[2] or nil) or 0
local now, ahead = steady_time(server_ms, ahead_before, last, args.about_ms or 0)
local has_jumped = last > 0 and math.abs(server_ms + ahead_before - last) > UNCERTAIN_MS
if has_jumped and not args.about_ms then
  if not args.accepts then
    -- Where Redis takes no writes nobody can say so: then this fails, and the patience of who starts begins anew.
    redis.call('HSET', keys.clock, 'asked_ms', server_ms)
    return '{}'
  end
  ahead = now - server_ms
end
redis.call('HSET', keys.clock, 'now_ms', now, 'ahead', ahead)
return encode({ now_ms = now })
