-- The snapshot that services answer from, as JSON, and its push. Its format is that of `Formats` in the domain crate.

-- keys: line, settings, sessions, rate. Needs lib/incarnation.lua. Returns nil if the store does not hold the room.
local function snapshot(keys, room, now)
  local line, settings = read_room(keys, now)
  if not line then return nil end
  excuse(line, settings.reopened_at)
  local texts = redis.call('HMGET', keys.line, 'figures', 'draws', 'awaits')
  local stored = phase_texts(keys.settings, settings)
  local version = redis.call('HGET', keys.settings, 'version') or 0
  return string.format(
    '{"format":1,"room":"%s","settings":%s,"event":%s,"figures":%s,"draws":%s,"config_version":%d,' ..
    '"pool_first":%d,"pool_last":%d,"cumulative_hazard":%d,"excused_until_ms":%d,' ..
    '"reset_epoch":%d,"generation":%d,"nonce":"%s","seq":%d,"now_ms":%d,' ..
    '"queue_counter":%d,"serving_counter":%d,"admitted":%d,"active":%d,"unconfirmed":%d,' ..
    '"expired":%d,"left":%d,"skipped":%d,"expired_position":%d,"admitted_last_minute":%d,' ..
    '"tokens_until":%d,"awaits":%s,"left_out":%s,"rests":%s}',
    room, stored.settings, stored.event, texts[1] or '{}', texts[2] or '[]', version,
    line.pool_first, line.pool_last, line.cumulative_hazard, line.excused_until, line.reset_epoch,
    line.generation, stamp.nonce, stamp.seq, now, line.queue_counter, line.serving_counter, line.admitted, redis.call('ZCOUNT', keys.sessions, now, '+inf'),
    line.unconfirmed_until >= now and line.unconfirmed or 0, line.expired, line.left, line.skipped,
    line.expired_position, rate_used(keys.rate, now), line.tokens_until,
    -- Nobody is awaited for longer than the worst is assumed.
    line.unconfirmed_until >= now and texts[3] or '[]', encode(left_out(keys.line, line, now)),
    tostring(stamp.rests))
end

-- Sends the snapshot to every service.
local function publish(keys, room, now)
  redis.call('PUBLISH', CHANNELS.snapshots, snapshot(keys, room, now))
end
