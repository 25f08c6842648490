import { readFile } from 'node:fs/promises';
import type { AssetUpsertItem } from '@itsm-api/client';

/**
 * Turns the outputs of `lshw -json`, one file for each machine, into the list of assets that docs/guides/sync-assets.md
 * sends to the API.
 *
 *     sudo lshw -json > "$(hostname).json"
 *     node examples/inventory.ts *.json > inventory.json
 */

/** A part of a machine. The machine is the root, and contains all other parts. */
interface Part {
  id: string;
  class: string;
  children?: Part[];
  vendor?: string;
  product?: string;
  serial?: string;
  size?: number;
  configuration?: Record<string, string>;
}

const types: Record<string, AssetUpsertItem['type']> = {
  ...{ notebook: 'LAPTOP', laptop: 'LAPTOP', portable: 'LAPTOP', convertible: 'LAPTOP' },
  ...{ desktop: 'DESKTOP', 'low-profile': 'DESKTOP', mini: 'DESKTOP', 'mini-tower': 'DESKTOP', tower: 'DESKTOP' },
  ...{ server: 'SERVER', rackmount: 'SERVER', blade: 'SERVER', vm: 'SERVER' },
};

/** Returns a text of the firmware, or undefined if the manufacturer has not set it. */
function known(text: string | undefined): string | undefined {
  const isJunk = /^(|0+|none|default string|not (specified|available|applicable)|system .*)$/i.test(text?.trim() ?? '');
  return isJunk || text?.match(/filled by o\.?e\.?m/i) ? undefined : text?.trim();
}

function partsOf(part: Part, name: string): Part[] {
  const below = (part.children ?? []).flatMap((child) => partsOf(child, name));
  return part.class === name ? [part, ...below] : below;
}

function toAsset(machine: Part): AssetUpsertItem & { id: string } {
  const { id: host, configuration = {} } = machine;
  const [serialNumber, uuid] = [known(machine.serial), known(configuration.uuid)];
  const memory = partsOf(machine, 'memory').find(({ id }) => id.startsWith('memory'))?.size;
  const customFields = {
    processor: partsOf(machine, 'processor').map(({ product }) => known(product))[0] ?? null,
    memoryGiB: memory === undefined ? null : Math.round(memory / 2 ** 30),
    macAddresses: partsOf(machine, 'network').flatMap(({ serial }) => known(serial) ?? []),
  };
  return {
    ...{ id: uuid ?? serialNumber ?? host, assetTag: serialNumber ?? uuid ?? host, name: host, serialNumber },
    ...{ type: types[configuration.chassis ?? 'vm'] ?? 'OTHER', customFields },
    ...{ manufacturer: known(machine.vendor), model: known(machine.product) },
  };
}

const outputs = await Promise.all(process.argv.slice(2).map(async (file) => JSON.parse(await readFile(file, 'utf8'))));
// Newer versions of lshw print an array.
console.log(JSON.stringify(outputs.flat().map(toAsset), null, 2));
