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

/** Words of texts that describe a field instead of its value, such as "System Product Name" and "Not Specified". */
const fieldWords = new Set(
  (
    'applicable asset available base be board by chassis default defined empty family filled invalid manufacturer ' +
    'model na name no none not null number oem of present product provided serial set sku specified standard string ' +
    'system tag tbd to type undefined unknown unspecified uuid value vendor version'
  ).split(' '),
);

/** Returns a text of the firmware, or undefined if it is a placeholder. */
function known(text = ''): string | undefined {
  const words: string[] =
    text
      .toLowerCase()
      .replaceAll(/[./]/g, '')
      .match(/[a-z]+/g) ?? [];
  const describesField = words.every((word) => fieldWords.has(word)) && text.replaceAll(/\D/g, '').length < 3;
  // "00000000", "xx-xx-xx" and "0123456789" repeat a character, or count. A few other characters can be between them.
  const values = Array.from(text.replaceAll(/[^a-z\d]/gi, ''), (character) => Number.parseInt(character, 36));
  const counting = values.filter((value, index) => index > 0 && Math.abs(value - (values[index - 1] ?? 0)) < 2);
  const repeated = Math.max(...values.map((value) => values.filter((other) => other === value).length));
  const isPattern = Math.max(counting.length + 1, repeated) >= values.length * 0.75;
  return describesField || isPattern || /filled by/i.test(text) ? undefined : text.trim();
}

/** Returns a serial number or a UUID. A text without digits is a word, unless it has no vowels. */
function identity(text: string | undefined): string | undefined {
  const value = known(text);
  return value !== undefined && /\d|^[^aeiou]{5,}$/i.test(value) ? value : undefined;
}

function partsOf(part: Part, name: string): Part[] {
  const below = (part.children ?? []).flatMap((child) => partsOf(child, name));
  return part.class === name ? [part, ...below] : below;
}

function toAsset(machine: Part): AssetUpsertItem & { id: string } {
  const { id: host, configuration = {} } = machine;
  const [serialNumber, uuid] = [identity(machine.serial), identity(configuration.uuid)];
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
