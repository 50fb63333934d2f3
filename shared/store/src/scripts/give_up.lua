--[[ give_up: a batch of visitors give their places in line back.

KEYS  line entered unattended door asked passed sessions holds networks counts
ARGV  now_ms seen document
Returns {given_up}
      given_up: of each place true = given back now, false = it is over already, or its request id is from
      before a reset.
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
local given_up, gone = {}, {}
for i, place in ipairs(args.places) do
  given_up[i] = known
    and (DEPARTURES.give_up(keys, line, tonumber(place.number), tonumber(place.position), args.draws))
  if given_up[i] then gone[#gone + 1] = place end
end
COUNTS.left(keys.counts, now, 'place_given_up', #gone, args.region)
NETWORKS.leave_line_now(gone)
return answer({ given_up = given_up })
