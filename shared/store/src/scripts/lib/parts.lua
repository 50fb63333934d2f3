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
  local LASTING = { 'sessions', 'records', 'tokens', 'rate', 'rows', 'ended', 'holds' }
  local known, written, is_written = {}, {}, {}

  -- The key of a part; nil: it is none of this script's.
  local function key_of(part)
    local name, rest = string.match(part, '^(%a+)(.*)$')
    return keys[name] and keys[name] .. rest
  end

  -- How many of these parts, which are this script's, there are.
  local function count(parts)
    if #parts == 0 then return 0 end
    local their_keys = {}
    for i, part in ipairs(parts) do their_keys[i] = key_of(part) end
    return redis.call('EXISTS', unpack(their_keys))
  end

  -- The known parts that are this script's.
  local function own()
    local parts = {}
    for _, part in ipairs(known) do
      if key_of(part) then parts[#parts + 1] = part end
    end
    return parts
  end

  -- Those that this script may have made.
  local function possibly_new()
    local is_known, parts = {}, {}
    for _, part in ipairs(known) do is_known[part] = true end
    for _, part in ipairs(LASTING) do
      if keys[part] and not is_known[part] then parts[#parts + 1] = part end
    end
    for _, key in ipairs(written) do
      local part = string.match(key, '}:(entered:.*)$')
      if part and not is_known[part] then parts[#parts + 1] = part end
    end
    return parts
  end

  PARTS.read = function(text, seq)
    local of_seq, names = string.match(text or '', '^(%d+)(.*)$')
    if tonumber(of_seq) ~= seq then return end
    for part in string.gmatch(names, '%S+') do known[#known + 1] = part end
  end

  PARTS.is_one_lost = function()
    local parts = own()
    return count(parts) < #parts
  end

  PARTS.text = function(seq)
    local old, new = own(), possibly_new()
    if count(old) < #old or count(new) > 0 then
      local there = {}
      for _, parts in ipairs({ known, new }) do
        for _, part in ipairs(parts) do
          if not key_of(part) or count({ part }) == 1 then there[#there + 1] = part end
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
