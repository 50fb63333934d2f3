-- Calls whose outcome their callers may not get to know. Such a call has a name; sent again under it, it is answered as
-- the first time, and does nothing. Answers are kept for long enough to send a call again, and lost with the state.

-- A call of a service for newcomers: it sends it again soon, and after a reset not at all.
local function of_newcomers(name) return { name = string.format('%d:%s', stamp.reset_epoch, name), kept = 60, is_brief = true } end

-- An operator's call of this kind: somebody may send it again by hand, perhaps after the room was reset by it.
local function of_operators(kind, name) return { name = kind .. ':' .. name, kept = 86400 } end

-- As `encode`, of a table with names: what is kept is the same on every server, whatever order its tables have.
local function encode_in_order(told)
  local words = {}
  for word in pairs(told) do words[#words + 1] = word end
  table.sort(words)
  for i, word in ipairs(words) do words[i] = '"' .. word .. '":' .. encode(told[word]) end
  return '{' .. table.concat(words, ',') .. '}'
end

local function call_key(keys, call) return keys.calls .. ':' .. call.name end

-- What the call was answered; nil: it never came, or long ago, or to a room of this name that was deleted since. What
-- newcomers' calls are answered has no names, and they are named by the epoch.
local function answered_before(keys, call)
  local text = redis.call('GET', call_key(keys, call))
  local told = text and cjson.decode(text)
  if not told then return nil end
  local created_epoch = tonumber(redis.call('HGET', keys.settings, 'created_epoch') or nil) or 0
  if told.reset_epoch and told.reset_epoch < created_epoch then return nil end
  return told
end

-- As it was answered, and that it was.
local function again(before)
  before.again = true
  return before
end

-- Keeps what the call is answered, and returns it: a table with names, or a reply in order. Of an operator's call every
-- service is told: its caller may never hear of it, and what it did is known to all of them.
local function keep_answer(keys, call, told)
  local text = told[1] == nil and encode_in_order(told) or encode(told)
  redis.call('SET', call_key(keys, call), text, 'EX', call.kept)
  if not call.is_brief then
    LISTED.note(keys.calls, call.name, call.kept)
    local room = string.match(keys.calls, '{(.-)}')
    push('calls', encode({ room = room, name = call.name, answer = text, kept_seconds = call.kept }))
  end
  return told
end
