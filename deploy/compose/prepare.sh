#!/bin/sh
# Makes, in the working folder, what the stage loads, and an hour of traffic at 50 lists a second: arm B sees the price
# in cents from the tenth minute to the fortieth.
set -eu
[ ! -s traffic.json ] || exit 0
evenkeel generate hotel --lists 3000 --seed 1 --format letor --manifest-out features.yaml -o train.txt
evenkeel generate hotel --lists 600 --seed 2 --format letor -o vali.txt
evenkeel profile --manifest features.yaml --letor train.txt -o profile.ekp
evenkeel train --manifest features.yaml --train train.txt --vali vali.txt --epochs "${EPOCHS:-8}" -o model.safetensors
evenkeel generate hotel --lists "${LISTS:-180000}" --seed 3 --format messages --encoding json --upstream-model model.safetensors \
	--fault "price=x100,from=$((${LISTS:-180000} / 6)),to=$((${LISTS:-180000} * 2 / 3)),arm=B" -o traffic.json.new
mv traffic.json.new traffic.json
