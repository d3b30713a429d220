# Layouts of docs/format/message.md: each example is read whole with its mapping, and `inspect`
# proposes a mapping and a manifest for it.
. "$(dirname "$0")/prelude"

python3 - "$tests/../docs/format/message.md" <<'END'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read().split("## Other field names")[1]
pairs = re.findall(r"```text\n(\{.*?)\n```\n+```yaml\n(.*?)```", text, re.S)
for i, (message, mapping) in enumerate(pairs):
    with open(f"layout{i}.json", "w", encoding="utf-8") as out:
        out.write(message + "\n")
    with open(f"layout{i}.yaml", "w", encoding="utf-8") as out:
        out.write("input: {brokers: 'h:1', topics: [t], group: g}\noutput: {topic: r}\n"
                  f"assets: {{manifest: layout{i}-features.yaml, profile: none.ekp}}\n{mapping}")
END
count=0
while [ -f layout$count.json ]; do
	name=layout$count
	"$EK" inspect --suggest-manifest -c $name.yaml $name.json >$name-features.yaml
	sed -i 's/item_1/price/; s/item_2/stars/' $name-features.yaml
	"$EK" inspect -c $name.yaml $name.json >coverage
	grep -qF "readable        100% of 1 messages" coverage || fail "$name: $(cat coverage)"
	grep -qE '^  scores +100%' coverage || fail "$name: $(cat coverage)"
	if grep -E '^  (query )?features ' coverage | grep -qE ' [0-9.]*[0-9]%' &&
		grep -E '^  (query )?features ' coverage | grep -oE '[0-9.]+%' | grep -qv '^100%$'; then
		fail "$name: $(cat coverage)"
	fi

	# The proposal finds the same features and scores.
	"$EK" inspect --suggest-mapping $name.json >$name-message.yaml
	sed '/^message/,$d' $name.yaml | cat - $name-message.yaml >proposed.yaml
	"$EK" inspect --suggest-manifest -c proposed.yaml $name.json | sed 's/item_1/price/; s/item_2/stars/' >proposed-features.yaml
	for feature in $(sed -n 's/^  - {name: \([a-z]*\),.*role: item.*/\1/p' $name-features.yaml); do
		grep -qF "{name: $feature," proposed-features.yaml || fail "$name: $(cat $name-message.yaml proposed-features.yaml)"
	done
	cp $name-features.yaml kept.yaml
	cp proposed-features.yaml $name-features.yaml
	"$EK" inspect -c proposed.yaml $name.json >coverage
	grep -qE '^  scores +100%' coverage || fail "$name: $(cat $name-message.yaml coverage)"
	cp kept.yaml $name-features.yaml
	count=$((count + 1))
done
[ $count = 7 ] || fail "$count examples"
grep -qF "segments        arm 1 value in 100% (B 100%); market 1 value in 100% (DE 100%)" coverage ||
	"$EK" inspect -c layout2.yaml layout2.json | grep -qF 'arm 1 value in 100% (B 100%); market' ||
	fail "segments next to the items: $("$EK" inspect -c layout2.yaml layout2.json)"

# In columns, the ids of the items are an array, and the id of the list is none.
echo '{"rid":"r-1","docs":["F1","F2"],"scores":[0.1,0.2],"feats":{"price":[1,2],"km":[3,4]}}' >columns.json
"$EK" inspect --suggest-mapping columns.json >columns.yaml
grep -qF 'query: "rid"' columns.yaml && grep -qF 'item_id: "docs"' columns.yaml || fail "ids of columns: $(cat columns.yaml)"

# The id of a request names the list, also when `query` holds other fields.
for id in 1 2; do
	echo '{"req":"r-'$id'","query":{"party":2},"results":[{"f":{"price":1},"score":0.1}]}'
done >requests.json
"$EK" inspect --suggest-mapping requests.json >requests.yaml
grep -qF 'query: "req"' requests.yaml || fail "id of a request: $(cat requests.yaml)"

# Messages without a number give an error, not an empty manifest.
echo '{"items":[{"features":[{"title":"x"}]}]}' >words.json
refused 1 "words.json:1: a message has no 'items' (or 'item') with 'features' that can be read" inspect --suggest-manifest words.json
echo '{"items":[{"features":{"title":"x","empty":null}}]}' >words.json
refused 1 "no feature of the items is a number, by a name that a feature may have" inspect --suggest-manifest words.json
refused 1 "" inspect --suggest-mapping words.json

# A wrong mapping is an error at its key.
sed 's/market: market/market: query.market/' layout2.yaml >wrong.yaml
refused 78 "wrong.yaml:6:3: 'message.segments.market': path 'query.market' meets 'query' of 'message.query'; map one of them to another path" inspect --plot price -m layout2-features.yaml -c wrong.yaml layout2.json

# A configuration with the fields alone is enough for commands that use nothing else.
"$EK" inspect --suggest-manifest -c columns.yaml columns.json >columns-features.yaml
grep -qF "{name: price," columns-features.yaml || fail "fields alone: $(cat columns-features.yaml)"
