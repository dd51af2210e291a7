/** The 21 components: which one draws which type. Nothing is looked up by a name of the document's making. */

import type { NodeType, PropsByType } from '../../types.js';
import type { Builder } from '../scene.js';
import { button } from './button.js';
import { chart } from './chart.js';
import { checkbox, select } from './choices.js';
import { form } from './form.js';
import { input } from './input.js';
import { card, divider, grid, stack } from './layout.js';
import { list } from './list.js';
import { markdown } from './markdown.js';
import { slider } from './slider.js';
import { alert, badge, progress, result } from './status.js';
import { table } from './table.js';
import { tabs } from './tabs.js';
import { heading, text } from './words.js';

export const BUILDERS: { readonly [T in NodeType]: Builder<PropsByType[T]> } = {
  Stack: stack,
  Grid: grid,
  Card: card,
  Tabs: tabs,
  Divider: divider,
  Text: text,
  Heading: heading,
  Markdown: markdown,
  Alert: alert,
  Badge: badge,
  Progress: progress,
  Table: table,
  List: list,
  Chart: chart,
  Result: result,
  Form: form,
  Input: input,
  Slider: slider,
  Select: select,
  Checkbox: checkbox,
  Button: button,
};
