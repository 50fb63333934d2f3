-- Closed minutes as text, small: hashes with a field for each hour, which holds rows, each of a slot (a minute of the
-- day, or five of them by their number) that begins with a line feed:
--   slot|figure and count,figure and count|region|figure and count,…
-- e.g. `754|q012,i03|eu|r03,t01,w02`. A figure is two letters or digits, see the domain's `ledger`; of `q0` and `i0` the
-- highest counts, all others add up.

local LEDGER = {}
do
  local function is_level(figure) return figure == 'q0' or figure == 'i0' end
  LEDGER.is_level = is_level

  local function parse(row)
    local cells, region, is_name = {}, '', false
    for part in string.gmatch(row .. '|', '([^|]*)|') do
      if is_name then
        region = part
      else
        for figure, count in string.gmatch(part, '(%w%w)(%d+)') do
          cells[region] = cells[region] or {}
          cells[region][figure] = tonumber(count)
        end
      end
      is_name = not is_name
    end
    return cells
  end

  local function names_of(set)
    local names = {}
    for name in pairs(set) do names[#names + 1] = name end
    table.sort(names)
    return names
  end

  local function figures_text(figures)
    local texts = {}
    for i, name in ipairs(names_of(figures)) do texts[i] = string.format('%s%d', name, figures[name]) end
    return table.concat(texts, ',')
  end

  local function text_of(slot, cells)
    local parts = { tostring(slot), figures_text(cells[''] or {}) }
    for _, region in ipairs(names_of(cells)) do
      if region ~= '' then parts[#parts + 1], parts[#parts + 2] = region, figures_text(cells[region]) end
    end
    return table.concat(parts, '|')
  end

  -- The rows of one key: of a day, by slots of so many minutes.
  LEDGER.of = function(key, minutes)
    local hours, rows = {}, {}

    local function text_of_hour(hour)
      hours[hour] = hours[hour] or redis.call('HGET', key, hour) or ''
      return hours[hour]
    end

    -- Where the row of a slot is in the text of its hour.
    local function place_of(text, slot)
      local first = string.find(text, '\n' .. slot .. '|', 1, true)
      if not first then return nil end
      return first, (string.find(text, '\n', first + 1, true) or #text + 1) - 1
    end

    local function row_of(minute)
      local slot = math.floor(minute % 1440 / minutes)
      local row = rows[slot]
      if not row then
        row = { hour = math.floor(minute % 1440 / 60) }
        local text = text_of_hour(row.hour)
        local first, last = place_of(text, slot)
        row.cells = first and parse(string.match(string.sub(text, first + 1, last), '|(.*)$')) or {}
        rows[slot] = row
      end
      return row
    end

    local own = {}

    own.get = function(minute, figure, region)
      local cells = row_of(minute).cells[region]
      return cells and cells[figure] or 0
    end

    own.add = function(minute, figure, region, count)
      local row = row_of(minute)
      local cells = row.cells[region] or {}
      local known = cells[figure] or 0
      cells[figure] = is_level(figure) and math.max(known, count) or known + count
      row.cells[region], row.is_changed = cells, true
    end

    own.write = function(kept_seconds)
      local changed = {}
      for _, slot in ipairs(names_of(rows)) do
        local row = rows[slot]
        if row.is_changed then
          local text = text_of_hour(row.hour)
          local first, last = place_of(text, slot)
          local written = '\n' .. text_of(slot, row.cells)
          hours[row.hour] = first and string.sub(text, 1, first - 1) .. written .. string.sub(text, last + 1)
            or text .. written
          changed[row.hour] = true
        end
      end
      for _, hour in ipairs(names_of(changed)) do redis.call('HSET', key, hour, hours[hour]) end
      if next(changed) then redis.call('EXPIRE', key, kept_seconds) end
    end

    return own
  end

  -- The minute, the figure and the region (empty: of the room) of a field of open counts, of both hashes.
  LEDGER.read_field = function(field)
    local minute, figure, region = string.match(field, '^(%d+)%.(%w+)%.?(.*)$')
    if figure == 'r' or figure == 'a' then figure = figure .. '0' end
    return tonumber(minute), figure, region or ''
  end
end
