-- What is noted of a session in its record: in the place of a request id, which a visitor's session does not have there,
-- and behind the request id of an AWS-style session and a semicolon.
-- {when it began, unix s}.{what it is bound to}.{when it was redeemed, unix s}-{by which call}; each may be missing, with
-- its dot the last, and the whole, if all are. A binding is a letter (n network, u network and user agent, k key) and a
-- digest. See domain/session_note.rs.

-- A table, since a script has room for few local names.
local NOTES = {}

-- The note as text, and what is before it.
function NOTES.text_of(record)
  if record.kind ~= 'a' then return record.request_id, '' end
  return string.match(record.request_id, ';(.*)$') or '', string.match(record.request_id, '^[^;]*') .. ';'
end

function NOTES.read(record)
  local began, bound, redeemed = string.match((NOTES.text_of(record)), '^(%d*)%.(%w*)%.?(.*)$')
  return tonumber(began or ''), bound or '', redeemed or ''
end

function NOTES.write(record, began, bound, redeemed)
  local _, before = NOTES.text_of(record)
  if not began and bound == '' and redeemed == '' then
    record.request_id = string.sub(before, 1, -2)
    return
  end
  local note = string.format('%s.%s', began and string.format('%d', began) or '', bound)
  record.request_id = before .. note .. (redeemed == '' and '' or '.' .. redeemed)
end

-- Whether a visitor's session is that of a caller. Its record is bound to the caller if it was not bound, or to something
-- that the room asks for no more. `caller`: what sessions of the caller are
-- bound to, with spaces between; of each kind under each secret, the current one first; '-' = nobody knows.
function NOTES.recognise(record, caller)
  local began, bound, redeemed = NOTES.read(record)
  if caller == '-' then return bound == '' end
  local kind = string.sub(bound, 1, 1)
  local same_kind = kind ~= '' and string.match(caller, kind .. '%x+')
  if (same_kind or kind == 'k') and not string.find(caller, bound, 1, true) then return false end
  local to = same_kind or string.match(caller, '^%w+') or ''
  if to ~= bound then NOTES.write(record, began, to, redeemed) end
  return true
end

-- When a session ends at the latest, unix s; `most` = how long it lasts at most, s; nil: as long as its visitor is busy.
-- One that began before there was a limit is taken to have begun with its token.
function NOTES.end_at_most(record, most)
  if not most then return math.huge end
  local began, bound, redeemed = NOTES.read(record)
  if not began then
    began = record.iat
    NOTES.write(record, began, bound, redeemed)
  end
  return began + most
end

-- What is noted in one record of a session and not in the other, which was seen at another time, is taken over: a session
-- was redeemed, or bound, though a store that went back says that it was not. Returns whether there was any.
function NOTES.take_missing(record, other)
  local began, bound, redeemed = NOTES.read(record)
  local began_there, bound_there, redeemed_there = NOTES.read(other)
  local before = record.request_id
  NOTES.write(record, began or began_there, bound ~= '' and bound or bound_there,
    redeemed ~= '' and redeemed or redeemed_there)
  return record.request_id ~= before
end
