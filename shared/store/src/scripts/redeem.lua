--[[ redeem: a site exchanges the token of a session, once.

KEYS  line sessions records
ARGV  now_ms seen document
Returns {outcome, at, call, record}
      outcome: redeemed (now, or by this very call before), already (by another call) or no_session. at: when it was
      redeemed, unix s; call: by which one; record: that of the session, as it is now. All are nil without a session.
Keeps a session is redeemed once: what says so goes with its record, wherever that goes, until it ends.
]]
local args = arguments({
  reset_epoch = 'integer', number = 'integer',
  -- What the call is known by, under each secret of the deployment, the current one first: 16 digits each; none = it has
  -- no name, and is never a call that came before.
  calls = 'table',
})
local NAMELESS = string.rep('0', 16)
local line = read_line(keys.line)
if not line then return no_room() end
local text = args.reset_epoch == line.reset_epoch and redis.call('HGET', keys.records, args.number)
local record = text and unpack_record(text)
if not record or record.status ~= 0 or not is_live(keys, line, args.number, now) then
  return answer({ outcome = 'no_session' })
end
local began, bound, redeemed = NOTES.read(record)
local at, call = string.match(redeemed, '^(%d+)-(%x+)$')
if at then
  local is_same = false
  for _, name in ipairs(args.calls) do is_same = is_same or name == call end
  return answer({ outcome = is_same and 'redeemed' or 'already', at = tonumber(at), call = call, record = text })
end
at = math.floor(now / 1000)
NOTES.write(record, began, bound, string.format('%d-%s', at, args.calls[1] or NAMELESS))
text = pack_record(record)
redis.call('HSET', keys.records, args.number, text)
return answer({ outcome = 'redeemed', at = at, record = text })
