-- Seats: live sessions, counted exactly, and their records.
-- A session lives through the whole second in which its token expires, so that no token outlives
-- its session: sessions is a sorted set, queue number -> last ms of life. Besides it has seats without a session: those
-- held for visitors who were called, and those of sessions that have ended while gateways may still take their tokens.

-- Seats taken: sessions that live, or may, and those that a lost store may still owe to unseen holders.
local function seats_taken(sessions, line, now)
  local unconfirmed = line.unconfirmed_until >= now and line.unconfirmed or 0
  return redis.call('ZCOUNT', sessions, sessions_from(line, now), '+inf') + unconfirmed
end

local function seats_left(sessions, settings, line, now)
  if not settings.total_active_users then return math.huge end
  return math.max(settings.total_active_users - seats_taken(sessions, line, now), 0)
end

-- When a seat is free at the soonest, unless somebody leaves before, ms; nil: nobody can say.
local function seat_free_at(sessions, settings, line, now)
  if seats_left(sessions, settings, line, now) > 0 then return now end
  local first = redis.call('ZRANGEBYSCORE', sessions, sessions_from(line, now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  local at = first[2] and math.max(first[2], line.kept_until) + 1 or nil
  if line.unconfirmed > 0 and line.unconfirmed_until >= now then
    at = math.min(at or math.huge, line.unconfirmed_until + 1)
  end
  return at
end

local function session_end(exp) return exp * 1000 + 999 end

-- A record: issued at | expires at | status (0 live, 1 completed, -1 abandoned, -2 revoked) |
-- kind (v visitor's calls, a AWS-style) | key id | request id and note (lib/notes) | issuer
local function pack_record(r)
  return string.format(
    '%d|%d|%d|%s|%s|%s|%s', r.iat, r.exp, r.status, r.kind, r.kid, r.request_id, r.issuer)
end

local function unpack_record(text)
  if not text then return nil end
  local iat, exp, status, kind, kid, request_id, issuer =
    string.match(text, '^(%d+)|(%-?%d+)|(%-?%d+)|(%a)|([^|]*)|([^|]*)|(.*)$')
  return {
    iat = tonumber(iat), exp = tonumber(exp), status = tonumber(status),
    kind = kind, kid = kid, request_id = request_id, issuer = issuer,
  }
end

-- Gives a seat to `number`, and sets the bit in `entered` of its `position`, if it is known. Needs lib/bitmaps. keys: sessions, records, tokens, entered.
local function seat(keys, number, position, record)
  redis.call('ZADD', keys.sessions, session_end(record.exp), number)
  redis.call('HSET', keys.records, number, pack_record(record))
  if position then set_bit(keys.entered, position, 1) end
  if record.kind == 'a' then redis.call('ZADD', keys.tokens, record.exp, number) end
end

-- The same for many: `seated` has number, position and record of each.
local function seat_all(keys, seated)
  if #seated == 0 then return end
  local sessions, records, tokens = {}, {}, {}
  for i, each in ipairs(seated) do
    local record = each.record
    sessions[2 * i - 1], sessions[2 * i] = session_end(record.exp), each.number
    records[2 * i - 1], records[2 * i] = each.number, pack_record(record)
    set_bit(keys.entered, each.position, 1)
    if record.kind == 'a' then tokens[#tokens + 1], tokens[#tokens + 2] = record.exp, each.number end
  end
  redis.call('ZADD', keys.sessions, unpack(sessions))
  redis.call('HSET', keys.records, unpack(records))
  if #tokens > 0 then redis.call('ZADD', keys.tokens, unpack(tokens)) end
end

local function is_live(keys, line, number, now)
  return (tonumber(redis.call('ZSCORE', keys.sessions, number)) or 0) >= sessions_from(line, now)
end

-- Renews a visitor's session for a session length from now, but not beyond `end_s`, unix s. Its token is renewed in the
-- second half of its life, and always expires before the session does. Nothing is renewed where the room's settings
-- disable it: then a session that was renewed before they did lives no longer than its token.
local function renew(keys, settings, number, record, kid, now, end_s)
  if not settings.renews_sessions then
    redis.call('ZADD', keys.sessions, 'LT', session_end(record.exp), number)
    return
  end
  local now_s = math.floor(now / 1000)
  local exp = math.min(now_s + settings.session_duration_seconds, end_s)
  if record.exp - now_s <= settings.session_duration_seconds / 2 and record.exp < exp then
    record.iat, record.exp, record.kid = now_s, exp, kid
    redis.call('HSET', keys.records, number, pack_record(record))
  end
  redis.call('ZADD', keys.sessions, 'GT', session_end(exp), number)
end
