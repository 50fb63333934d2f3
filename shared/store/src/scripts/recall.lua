--[[ recall: what was done in a room for good: a page of the sessions that have ended, the latest to be forgotten first,
and with the first page what operators' calls were answered.

KEYS  line ended calls
ARGV  now_ms seen document
Returns {reset_epoch numbers expires_at calls next}
      expires_at: of each, unix s. calls: of each its name, what it was answered, and for how long that is kept, s. next:
      where the next page begins; nil: this was the last one. numbers, expires_at and calls are nil where there are none.
Keeps no more than a page is looked at.
]]
local args = arguments({ from = 'integer' })
local PAGE, MOST_CALLS = 1000, 1024
local line = read_line(keys.line)
if not line then return no_room() end

-- Those that are kept longest, the latest to be forgotten first. Nobody is told of marks of what was used: they are listed
-- by the minute, so there are ten thousand at most, of passes of a week. What is no text no call was answered.
local function answered_calls()
  local calls, from = {}, 0
  repeat
    local listed = redis.call('ZREVRANGE', keys.calls, from, from + PAGE - 1, 'WITHSCORES')
    for i = 1, #listed, 2 do
      local name, left_s = listed[i], math.floor((tonumber(listed[i + 1]) - now) / 1000)
      local text = left_s > 0 and string.sub(name, 1, 6) ~= 'spent:' and redis.pcall('GET', keys.calls .. ':' .. name)
      if type(text) == 'string' and #calls < MOST_CALLS then calls[#calls + 1] = { name, text, left_s } end
    end
    from = from + PAGE
  until #calls == MOST_CALLS or #listed < 2 * PAGE
  return calls
end

-- From the end that nothing is removed from meanwhile.
local found = redis.call('ZREVRANGE', keys.ended, args.from, args.from + PAGE - 1, 'WITHSCORES')
local numbers, expires_at = {}, {}
for i = 1, #found, 2 do
  numbers[#numbers + 1], expires_at[#expires_at + 1] = tonumber(found[i]), tonumber(found[i + 1])
end
local calls = args.from == 0 and answered_calls() or {}
return answer({
  reset_epoch = line.reset_epoch,
  numbers = #numbers > 0 and numbers or nil,
  expires_at = #numbers > 0 and expires_at or nil,
  calls = #calls > 0 and calls or nil,
  next = #numbers == PAGE and args.from + PAGE or nil,
})
