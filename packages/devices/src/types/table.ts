import { aristaEos } from './aristaEos.ts';
import { ciscoAsa } from './ciscoAsa.ts';
import { ciscoIos } from './ciscoIos.ts';
import { ciscoIosXr } from './ciscoIosXr.ts';
import { ciscoNx } from './ciscoNx.ts';
import { ciscoWlc } from './ciscoWlc.ts';
import { fortinetFortios } from './fortinetFortios.ts';
import { genericOf } from './generic.ts';
import { hpProcurve } from './hpProcurve.ts';
import { huaweiVrp } from './huaweiVrp.ts';
import { juniperJunos } from './juniperJunos.ts';
import { linux } from './linux.ts';
import { mikrotikRouteros } from './mikrotikRouteros.ts';
import { nokiaSros } from './nokiaSros.ts';
import { paloaltoPanos } from './paloaltoPanos.ts';
import type { DeviceType } from './type.ts';
import { vyos } from './vyos.ts';

/** The types of devices (docs/device-types.md). */
export const deviceTypes: readonly DeviceType[] = [
  ciscoIos,
  ciscoIosXr,
  ciscoNx,
  ciscoAsa,
  ciscoWlc,
  aristaEos,
  juniperJunos,
  paloaltoPanos,
  fortinetFortios,
  mikrotikRouteros,
  nokiaSros,
  vyos,
  huaweiVrp,
  hpProcurve,
  linux,
];

/** A device of which nobody said the type, or one that is not in the table. */
export const generic = genericOf(deviceTypes);

const byName = new Map(deviceTypes.flatMap((type) => [type.name, ...type.aliases].map((name) => [name, type])));

/** The type of a name of the table, of Ansible, netmiko or NAPALM; in any case, and `_` counts as `-`. */
export const typeOf = (ostype = ''): DeviceType => byName.get(ostype.toLowerCase().replace(/[_ ]/g, '-')) ?? generic;
