-- The snapshot that services answer from, as JSON, and its push: whole, of format 1, or as a difference, of format 2
-- (`Formats` in the domain crate). A difference leaves out what seldom changes, and names it by its digest, the
-- *basis*, which every whole snapshot carries, too. So it fits no snapshot but one that has exactly what it leaves out.

-- keys: line, settings, sessions, rate. Needs lib/incarnation.lua and lib/left_out.lua.
-- snapshot(keys, room, now): a whole one; nil if the store does not hold the room. publish(keys, room, now,
-- short_figures): sends it to every service; as a difference, if the figures are given as differences tell them, and a
-- whole one of the same basis was sent within the last second.
local snapshot, publish
do
  -- Who has missed a whole one waits for the next no longer than this, ms.
  local WHOLE_EVERY_MS = 1000

  -- What a difference leaves out: nothing that changes while people just come and go.
  local function seldom_changed(keys, line, settings, now)
    local texts = redis.call('HMGET', keys.line, 'draws', 'awaits', 'follows', 'left_out')
    local stored = phase_texts(keys.settings, settings)
    return string.format(
      '"settings":%s,"event":%s,"draws":%s,"config_version":%d,"pool_first":%d,"pool_last":%d,' ..
      '"excused_until_ms":%d,"reset_epoch":%d,"generation":%d,"nonce":"%s","follows":%s,"skipped":%d,' ..
      '"awaits":%s,"left_out":%s,"rests":%s,"unconfirmed_until":%d',
      stored.settings, stored.event, texts[1] or '[]', redis.call('HGET', keys.settings, 'version') or 0,
      line.pool_first, line.pool_last, line.excused_until, line.reset_epoch, line.generation, stamp.nonce,
      texts[3] or 'null', line.skipped,
      -- Nobody is awaited for longer than the worst is assumed.
      line.unconfirmed_until >= now and texts[2] or '[]', encode(LEFT_OUT.read(texts[4])),
      tostring(stamp.rests), line.unconfirmed_until >= now and line.unconfirmed_until or 0)
  end

  local function often_changed(keys, line, now)
    return string.format(
      '"seq":%d,"now_ms":%d,"queue_counter":%d,"serving_counter":%d,"admitted":%d,"active":%d,' ..
      '"unconfirmed":%d,"expired":%d,"left":%d,"expired_position":%d,"admitted_last_minute":%d,' ..
      '"tokens_until":%d,"cumulative_hazard":%d',
      stamp.seq, now, line.queue_counter, line.serving_counter, line.admitted,
      redis.call('ZCOUNT', keys.sessions, sessions_from(line, now), '+inf'),
      line.unconfirmed_until >= now and line.unconfirmed or 0, line.expired, line.left, line.expired_position,
      rate_used(keys.rate, now), line.tokens_until, line.cumulative_hazard)
  end

  -- Both halves, and the digest of the first.
  local function halves(keys, now)
    local line, settings = read_room(keys, now)
    if not line then return nil end
    excuse(line, settings.reopened_at)
    local seldom = seldom_changed(keys, line, settings, now)
    return { seldom = seldom, often = often_changed(keys, line, now), basis = redis.sha1hex(seldom) }
  end

  local function whole(keys, room, both)
    return string.format('{"format":1,"room":"%s","basis":"%s",%s,%s,"figures":%s}', room, both.basis, both.seldom,
      both.often, redis.call('HGET', keys.line, 'figures') or '{}')
  end

  local function difference(room, both, short_figures)
    return string.format('{"format":2,"room":"%s","basis":"%s",%s,"figures":%s}', room, both.basis, both.often,
      short_figures)
  end

  -- Whether a whole one of this basis was sent a moment ago.
  local function is_known(key, basis, now)
    local sent = redis.call('HMGET', key, 'whole_basis', 'whole_at')
    local since = now - (tonumber(sent[2]) or 0)
    return sent[1] == basis and since >= 0 and since < WHOLE_EVERY_MS
  end

  snapshot = function(keys, room, now)
    local both = halves(keys, now)
    return both and whole(keys, room, both)
  end

  publish = function(keys, room, now, short_figures)
    local both = halves(keys, now)
    if short_figures and is_known(keys.line, both.basis, now) then
      push('differences', difference(room, both, short_figures))
      return
    end
    redis.call('HSET', keys.line, 'whole_basis', both.basis, 'whole_at', now)
    push('snapshots', whole(keys, room, both))
  end
end
