import { typeOf } from '../../types/table.ts';
import { eosForm } from './eos.ts';
import type { LabForm } from './form.ts';
import { fortiosForm } from './fortios.ts';
import { iosForm } from './ios.ts';
import { iosXrForm } from './iosXr.ts';
import { junosForm } from './junos.ts';
import { linuxForm } from './linux.ts';
import { nxForm } from './nx.ts';
import { panosForm } from './panos.ts';
import { vrpForm } from './vrp.ts';
import { vyosForm } from './vyos.ts';

/** The forms of simulated devices, by the names of their types. */
export const labForms: ReadonlyMap<string, LabForm> = new Map([
  ['cisco-ios', iosForm],
  ['cisco-ios-xr', iosXrForm],
  ['cisco-nx', nxForm],
  ['arista-eos', eosForm],
  ['juniper-junos', junosForm],
  ['paloalto-panos', panosForm],
  ['vyos', vyosForm],
  ['fortinet-fortios', fortiosForm],
  ['huawei-vrp', vrpForm],
  ['linux', linuxForm],
]);

/** The form of a type. Devices of types that are not simulated have the form of Cisco IOS. */
export const labFormOf = (ostype?: string): LabForm => labForms.get(typeOf(ostype).name) ?? iosForm;
