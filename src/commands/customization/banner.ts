import { banner, bannerSchema, set } from '../../domain/customization/banner.ts';
import { commandsOf } from '../engine/define.ts';

export const setBanner = commandsOf(banner)({ name: 'setBanner', input: bannerSchema, on: 'any', decide: set });
