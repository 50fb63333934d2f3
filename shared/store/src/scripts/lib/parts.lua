-- Which parts of a room there are, so that one which is lost alone, deleted or evicted, is noticed by the first script
-- that would decide without it. `parts` in `line`: the `seq` of the state, and the parts that it has. A release that
-- keeps no such list raises `seq` alone, and then the list says nothing.
-- What expires by itself, or is soon made anew, is not on it: who is there and who asks, grants, and the counts of
-- minutes that are still open. Bits of who has entered are listed chunk by chunk.

-- One name instead of four: Lua allows a script 200. PARTS.read(text, seq): takes in the list. PARTS.is_one_lost():
-- whether one of this script's keys is gone that was there. PARTS.text(seq): the list as it is at the script's end.
-- PARTS.note_written(key): of a bitmap.
local PARTS = {}
do
  local LASTING = { 'sessions', 'records', 'tokens', 'rate', 'rows', 'ended', 'holds', 'draws', 'inlet' }
  -- known: the list. own_keys: the keys of those on it that are this script's.
  local known, is_known, own_keys = {}, {}, {}
  local written, is_written = {}, {}

  -- The key of a part; nil: it is none of this script's.
  local function key_of(part)
    local name, rest = string.match(part, '^(%a+)(.*)$')
    return keys[name] and keys[name] .. rest
  end

  -- How many of these keys there are.
  local function count(some) return #some > 0 and redis.call('EXISTS', unpack(some)) or 0 end

  -- Those that this script may have made: the parts, and their keys.
  local function possibly_new()
    local parts, their_keys = {}, {}
    local function add(part, key) parts[#parts + 1], their_keys[#their_keys + 1] = part, key end
    for _, part in ipairs(LASTING) do
      if keys[part] and not is_known[part] then add(part, keys[part]) end
    end
    for _, key in ipairs(written) do
      local part = string.match(key, '}:(entered:.*)$')
      if part and not is_known[part] then add(part, key) end
    end
    return parts, their_keys
  end

  PARTS.read = function(text, seq)
    local of_seq, names = string.match(text or '', '^(%d+)(.*)$')
    if tonumber(of_seq) ~= seq then return end
    for part in string.gmatch(names, '%S+') do
      known[#known + 1], is_known[part] = part, true
      own_keys[#own_keys + 1] = key_of(part)
    end
  end

  PARTS.is_one_lost = function() return count(own_keys) < #own_keys end

  PARTS.text = function(seq)
    local new, new_keys = possibly_new()
    if count(own_keys) < #own_keys or count(new_keys) > 0 then
      local there = {}
      for _, parts in ipairs({ known, new }) do
        for _, part in ipairs(parts) do
          local key = key_of(part)
          if not key or count({ key }) == 1 then there[#there + 1] = part end
        end
      end
      known = there
    end
    return string.format('%d %s', seq, table.concat(known, ' '))
  end

  PARTS.note_written = function(key)
    if is_written[key] then return end
    written[#written + 1], is_written[key] = key, true
  end
end
