# Makes 600 synthetic notes about twelve crafts, queries and judgments: notes.jsonl, *.tsv, qrels.txt.
function pick(n) { seed = (seed * 16807) % 2147483647; return seed % n }
function some(words, n, k,   t, i) { for (i = 0; i < n; i++) t = t " " (pick(3) ? word[pick(40)] : craft[words, pick(6)]); return t }
BEGIN {
	seed = 42
	split("bread flour oven yeast crust dough,wood saw plane oak joint grain,glass blow furnace sand bead lens,cloth weave loom thread wool dye," \
	      "iron forge anvil hammer steel rivet,stone chisel marble carve quarry slab,paper pulp press fold binding ink,leather hide tan stitch awl saddle," \
	      "clay wheel kiln glaze pot slip,silver solder ring chain gem polish,garden seed soil rake bulb hedge,boat keel mast sail rope deck", line, ",")
	for (c = 0; c < 12; c++) { split(line[c + 1], w, " "); for (i = 0; i < 6; i++) craft[c, i] = w[i + 1] }
	split("the a of and in to it is with for on as that this how when old new good long small work hand tool make made day year first last well part " \
	      "side end time water fire heat cut set", w, " "); for (i = 0; i < 40; i++) word[i] = w[i + 1]
	for (d = 0; d < 600; d++) {
		c = d % 12
		printf "{\"id\":\"note-%d\",\"url\":\"https://crafts.example/%s/%d\",\"title\":\"%s\",\"body\":\"%s\"}\n", d, craft[c, 0], d,
			(d % 5 ? some(c, 3) : ""), some(pick(4) ? c : pick(12), 20 + pick(60)) > "notes.jsonl"
	}
	for (q = 0; q < 90; q++) {
		c = q % 12; a = pick(6); b = (a + 1 + pick(5)) % 6
		part = q < 60 ? "train" : q < 75 ? "vali" : "test"
		printf "%d\t%s %s\n", q, craft[c, a], craft[c, b] > (part ".tsv")
		for (d = c; d < 600; d += 12) printf "%d 0 note-%d %d\n", q, d, d % 5 ? 2 : 1 > "qrels.txt"
	}
}
