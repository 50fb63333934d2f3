--[[ give_up: a batch of visitors give their places in line back.

KEYS  line entered unattended door asked passed sessions holds networks counts
ARGV  now_ms seen document
Returns {given_up over}
      given_up: of each place true = given back now, false = it is over already, or its request id is from
      before a reset. over: where it is over, now or since before: line, pool (it has left before its draw), or nowhere.
Keeps a place that was given back stays so: nobody enters with it, and nobody else is changed.
]]
local args = arguments({
  reset_epoch = 'integer',
  -- Where the caller is.
  region = 'text',
  -- Of each place: number and position, as texts; position null = it waits for its draw; network: the digest of its
  -- visitor's, where something is limited.
  places = 'table',
  -- How many draws the positions take into account.
  draws = 'integer',
})
local line = read_line(keys.line)
if not line then return no_room() end

local known = args.reset_epoch == line.reset_epoch
local function over_in(place)
  local position = place.position and args.draws == line.draw_count and tonumber(place.position)
  if position and get_bit(keys.entered, position) then return 'line' end
  return get_bit(gone_from_pools(keys), tonumber(place.number)) and 'pool' or 'nowhere'
end

local given_up, over, gone = {}, {}, {}
for i, place in ipairs(args.places) do
  given_up[i] = known
    and (DEPARTURES.give_up(keys, line, tonumber(place.number), tonumber(place.position), args.draws))
  over[i] = known and over_in(place) or 'nowhere'
  if given_up[i] then gone[#gone + 1] = place end
end
COUNTS.left(keys.counts, now, 'place_given_up', #gone, args.region)
NETWORKS.leave_line_now(gone)
return answer({ given_up = given_up, over = over })
