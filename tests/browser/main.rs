//! The waiting page in a real browser: Chromium, a real gateway, a small site and the services
//! themselves. What the page promises to people is checked here; what its parts do is checked
//! beside their code.

mod challenge;
mod documentation;
mod hostile;
mod journey;
mod languages;
mod pictures;
mod place;
mod scriptless;
mod states;
mod surroundings;
mod tabs;
mod trouble;
mod turns;
mod words;
