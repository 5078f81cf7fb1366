import { banner, bannerSchema, set } from '../../domain/customization/banner.ts';
import { commandsOf } from '../engine/define.ts';
import { always, by, type Kind } from '../engine/kinds.ts';

export const setBanner = commandsOf(banner)({ name: 'setBanner', input: bannerSchema, on: 'any', decide: set });

export const bannerKind: Kind = { of: banner, restore: always(by(setBanner)) };
