import { banner, bannerSchema, set } from '../domain/banner.ts';
import { commandsOf } from './define.ts';

export const setBanner = commandsOf(banner)({ name: 'setBanner', input: bannerSchema, on: 'any', decide: set });
