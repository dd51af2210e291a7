/** `weather-card`: props `city`, `temperatureC`, `description`; tells `detail(city)` when it is pressed. */

import { define, GenuiCard, textOf, words } from './base.js';
import { el } from '../ui/dom.js';
import css from './weather.css?inline';

class OstiaryWeatherCard extends GenuiCard {
  private city = '';
  private readonly place = el('span', { class: 'city' });
  private readonly degrees = el('span', { class: 'degrees' });
  private readonly sky = el('span', { class: 'sky dim' });
  private readonly press = el('button', { type: 'button' }, this.place, this.degrees, this.sky);

  constructor() {
    super(css);
    this.press.addEventListener('click', () => this.emit('detail', this.city));
    this.draw(this.press);
  }

  protected render({ city, temperatureC, description }: Readonly<Record<string, unknown>>): void {
    this.city = textOf(city);
    const isKnown = typeof temperatureC === 'number';
    this.place.replaceChildren(words(this.city || this.say('unknownPlace')));
    this.degrees.textContent = isKnown ? this.say('celsius', temperatureC) : '–';
    this.sky.replaceChildren(words(textOf(description)));
    this.press.dataset.warmth = isKnown ? (temperatureC < 10 ? 'cold' : temperatureC < 25 ? 'mild' : 'hot') : 'none';
  }
}

export const WeatherCard = define('ostiary-weather-card', OstiaryWeatherCard);
