-- The snapshot that services answer from, as JSON, and its push.

-- keys: line, settings, sessions, rate. Returns nil when the room is not there.
local function snapshot(keys, room, now)
  local line = read_line(keys.line)
  if not line then return nil end
  local settings = redis.call('HGET', keys.settings, 'json')
  local figures = redis.call('HGET', keys.line, 'figures') or '{}'
  return string.format(
    '{"room":"%s","settings":%s,"figures":%s,"reset_epoch":%d,"generation":%d,"now_ms":%d,' ..
    '"queue_counter":%d,"serving_counter":%d,"admitted":%d,"active":%d,"phantom":%d,' ..
    '"expired":%d,"skipped":%d,"expired_position":%d,"admitted_last_minute":%d,' ..
    '"tokens_until":%d}',
    room, settings, figures, line.reset_epoch, line.generation, now, line.queue_counter,
    line.serving_counter, line.admitted, redis.call('ZCOUNT', keys.sessions, now, '+inf'),
    line.phantom_until >= now and line.phantom or 0, line.expired, line.skipped,
    line.expired_position, rate_used(keys.rate, now), line.tokens_until)
end

-- Sends the snapshot to every service that listens.
local function publish(keys, room, now)
  redis.call('PUBLISH', 'vestibule:snapshots', snapshot(keys, room, now))
end
