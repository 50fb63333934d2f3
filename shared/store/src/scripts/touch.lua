--[[ touch: renew a batch of sessions of those inside.

KEYS  line settings sessions records entered ended
ARGV  now_ms seen key_id issuer | reset_epoch number position generation issued_at expires_at max_session_seconds caller
Returns  now_ms generation sessions | live issued_at expires_at key_id issuer note is_stranger
      key_id and issuer are those of new tokens and records; generation, issued_at and expires_at
      are what the visitor's ticket says. live is nil when the session has ended, or is not the caller's: then
      is_stranger is true. max_session_seconds: how long a session lasts at most ("" = no limit); caller, note: see
      lib/notes.
      A visitor's session ends a session length after the last touch; its token is renewed in the
      second half of its life. A session that a lost store forgot is rebuilt from the ticket.
Keeps (2) a rebuilt session takes one of the unconfirmed seats; what has ended is not rebuilt; a token never outlives its session.
]]
local line, settings = read_room(keys, now)
if not line then return no_room() end

local function rebuilt(number, position, generation, iat, exp)
  if generation >= line.generation or session_end(exp) < now then return nil end
  if redis.call('ZSCORE', keys.ended, number) then return nil end
  -- Only into a seat that is or may be its own, or is nobody's.
  local has_seat = is_live(keys, line, number, now)
  local is_one_kept = line.unconfirmed > 0 and line.unconfirmed_until >= now
  if not has_seat and not is_one_kept and seats_left(keys.sessions, settings, line, now) == 0 then return nil end
  local record = { iat = iat, exp = exp, status = 0, kind = 'v', kid = args.key_id, request_id = '',
    issuer = args.issuer }
  seat(keys, number, position, record)
  if not has_seat then
    line.unconfirmed = math.max(line.unconfirmed - 1, 0)
    redis.call('HSET', keys.line, 'unconfirmed', line.unconfirmed)
  end
  return record
end

local function touch(item)
  if tonumber(item.reset_epoch) ~= line.reset_epoch then return {} end
  local number = tonumber(item.number)
  local record = unpack_record(redis.call('HGET', keys.records, number))
  if not record then
    record = rebuilt(number, tonumber(item.position), tonumber(item.generation),
      tonumber(item.issued_at), tonumber(item.expires_at))
  end
  if not record or record.status ~= 0 or not is_live(keys, line, number, now) then return {} end
  if record.kind == 'v' then
    local before = record.request_id
    if not NOTES.recognise(record, item.caller) then return { is_stranger = true } end
    local end_s = NOTES.end_at_most(record, tonumber(item.max_session_seconds))
    if record.request_id ~= before then redis.call('HSET', keys.records, number, pack_record(record)) end
    renew(keys, settings, number, record, args.key_id, now, end_s)
  end
  -- Its seat is kept, though nothing has renewed it.
  if session_end(record.exp) < now then return {} end
  return { live = true, issued_at = record.iat, expires_at = record.exp, key_id = record.kid,
    issuer = record.issuer, note = (NOTES.text_of(record)) }
end

local sessions = {}
for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
  sessions[#sessions + 1] = reply_item(touch(item_at(i)))
end
return seal(reply({ now_ms = now, generation = line.generation, sessions = sessions }))
