-- Arguments and replies with names: one JSON document each way. The Rust side is `document.rs`.

-- The Lua type of each kind of field. Integers travel as text and are read with `tonumber`; a list
-- of things, or a document inside the document, is a table.
local KINDS = { integer = 'number', text = 'string', flag = 'boolean', table = 'table' }

-- The fields of a decoded document. `kinds` names every one of them and its kind; what is null
-- becomes nil.
local function fields(document, kinds)
  local read = {}
  for name, kind in pairs(kinds) do
    local value = document[name]
    if value == nil then error(SCRIPT .. ': argument ' .. name .. ' is missing') end
    if value ~= cjson.null then
      if kind == 'integer' then value = tonumber(value) end
      if type(value) ~= KINDS[kind] then
        error(SCRIPT .. ': argument ' .. name .. ' is no ' .. kind)
      end
      read[name] = value
    end
  end
  for name in pairs(document) do
    if not kinds[name] then error(SCRIPT .. ': argument ' .. name .. ' is unknown') end
  end
  return read
end

-- The arguments of this call, which every script but the hottest takes as its last ARGV.
local function arguments(kinds)
  return fields(cjson.decode(ARGV[#ARGV]), kinds)
end

-- A value as JSON. Integers have all their digits, which cjson would not write; an empty table is
-- an empty list; a field that is nil is left out.
local function encode(value)
  if type(value) == 'number' then return string.format('%d', value) end
  if type(value) ~= 'table' then return cjson.encode(value) end
  local parts = {}
  if value[1] ~= nil or next(value) == nil then
    for i, part in ipairs(value) do parts[i] = encode(part) end
    return '[' .. table.concat(parts, ',') .. ']'
  end
  for name, part in pairs(value) do
    parts[#parts + 1] = '"' .. name .. '":' .. encode(part)
  end
  return '{' .. table.concat(parts, ',') .. '}'
end
